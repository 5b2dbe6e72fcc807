import{Le,W}from"/console/assets/main-5p204gg3.js";function C(){return Le({strict:!1})}function F(){let e=W(),t=C();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{C,F};
