import{Fe,W}from"/console/assets/main-8phr6zqv.js";function C(){return Fe({strict:!1})}function F(){let e=W(),t=C();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{C,F};
