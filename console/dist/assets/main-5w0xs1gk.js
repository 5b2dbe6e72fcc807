import{ze,ne}from"/console/assets/main-kva1q0gp.js";function C(){return ze({strict:!1})}function L(){let e=ne(),t=C();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{C,L};
